/** The pricing plan of an API key sets its requests per second: 10, 166, 500, or the key's own `limit`. */
export const KEY_PLANS = ['hobby', 'team', 'enterprise', 'custom'] as const
export type KeyPlan = (typeof KEY_PLANS)[number]
