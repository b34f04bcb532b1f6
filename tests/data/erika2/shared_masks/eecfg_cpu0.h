/* TASK definition */
#define T_E 0
#define T_F 1
/* EVENT definition */
#define EV_B 0x2U
#define EV_OF_F 0x2U
#define EV_A 0x1U
/* CPUs */
#define EE_CURRENTCPU 0
