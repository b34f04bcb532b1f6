/* TASK definition */
#define T_A 0
#define T_B 1
/* CPUs */
#define EE_CURRENTCPU 0
