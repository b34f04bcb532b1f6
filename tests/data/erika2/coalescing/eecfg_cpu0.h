/* TASK definition */
#define T_A 0
#define T_C 1
/* CPUs */
#define EE_CURRENTCPU 0
/***** Spin lock IDs *****/
#define SPIN_U 0U
#define EE_SPINLOCK_CORE0 2U
#define EE_SPINLOCK_CORE1 1U
