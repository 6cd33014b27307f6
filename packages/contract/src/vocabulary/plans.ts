/** The pricing plan of a key sets its requests per second: 10, 166, 500, or its own number. */
export const KEY_PLANS = ['hobby', 'team', 'enterprise', 'custom'] as const
export type KeyPlan = (typeof KEY_PLANS)[number]
