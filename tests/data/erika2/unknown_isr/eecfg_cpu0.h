/* TASK definition */
#define T_0 0
/* CPUs */
#define EE_CURRENTCPU 0
