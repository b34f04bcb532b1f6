#define EE_CURRENTCPU 0
/* EVENT definition */
#define EV_1 0x1U
#define EV_2 0x2U
#define EV_3 0x4U
#define EV_4 0x8U
