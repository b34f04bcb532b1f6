#define EE_CURRENTCPU 0
/* EVENT definition */
#define EV_GO 0x1U
#define EV_STOP 0x2U
