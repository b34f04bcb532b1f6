/* TASK definition */
#define T_0 0
/* MUTEX definition */
#define RES_1 0U
/* CPUs */
#define EE_CURRENTCPU 0
