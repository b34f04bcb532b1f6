/* TASK definition */
#define T_1 0
/* MUTEX definition */
#define SEM_G (0U|EE_GLOBAL_MUTEX)
#define RES_L 1U
/* CPUs */
#define EE_CURRENTCPU 1
/***** Spin lock IDs *****/
#define SPIN_U 1U
#define EE_SPINLOCK_CORE0 3U
#define EE_SPINLOCK_CORE1 2U
