/* Numbers of card switch-c, made by 'freezeframe card build'; docs/c-hooks.md says what each is. */
#ifndef SWITCH_C_FREEZEFRAME_H
#define SWITCH_C_FREEZEFRAME_H
#define SWITCH_C_CARD_HASH 0xfd4318b330731149ull
#define SWITCH_C_CAUSES 4u
#define SWITCH_C_CLK_HZ 50000000u
#define SWITCH_C_CLOCK_CPU 0u
#define SWITCH_C_CAUSE_HOST 0u
#define SWITCH_C_CAUSE_TRIGGER 1u
#define SWITCH_C_CAUSE_PEER 2u
#define SWITCH_C_CAUSE_BAD_PACKET 3u
#define SWITCH_C_MEMORY_EVENT_LOG 0u
#define SWITCH_C_EVENT_FORWARDED 0u
#define SWITCH_C_EVENT_BAD 1u
#endif /* SWITCH_C_FREEZEFRAME_H */
