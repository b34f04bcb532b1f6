/* TASK definition */
#define T_A 0
#define T_B 1
#define T_C 2
/* MUTEX definition */
#define RES_1 0U
/* CPUs */
#define EE_CURRENTCPU 0
