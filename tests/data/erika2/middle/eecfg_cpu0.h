/* TASK definition */
#define T_A 0
#define T_B 1
/* MUTEX definition */
#define RES_1 0U
/* ALARM definition */
#define AL_B 0U
/* CPUs */
#define EE_CURRENTCPU 0
/***** Spin lock IDs *****/
#define SPIN_U 0U
#define EE_SPINLOCK_CORE0 1U
