/* TASK definition */
#define T_L 0
/* EVENT definition */
#define EV_R 0x1U
/* CPUs */
#define EE_CURRENTCPU 0
