/* TASK definition */
#define T_R 0
#define T_S 1
/* EVENT definition */
#define EV_R 0x1U
/* CPUs */
#define EE_CURRENTCPU 1
