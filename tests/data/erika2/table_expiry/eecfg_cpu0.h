/* TASK definition */
#define T_N 0
#define T_A 1
#define T_B 2
/* EVENT definition */
#define EV_A 0x1U
#define EV_B 0x1U
/* ALARM definition */
#define AL_N 0U
/* CPUs */
#define EE_CURRENTCPU 0
