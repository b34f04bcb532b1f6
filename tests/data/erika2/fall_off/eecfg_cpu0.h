/* TASK definition */
#define T_A 0
#define T_X 1
/* MUTEX definition */
#define RES_1 0U
/* CPUs */
#define EE_CURRENTCPU 0
