/* TASK definition */
#define T_1 0
/* CPUs */
#define EE_CURRENTCPU 1
/***** Spin lock IDs *****/
#define SPIN_U 0U
#define EE_SPINLOCK_CORE0 2U
#define EE_SPINLOCK_CORE1 1U
