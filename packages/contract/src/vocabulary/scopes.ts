/** The key scopes. `admin` includes the other four key scopes, which do not include one another. */
export const KEY_SCOPES = ['read', 'run', 'write', 'publish', 'admin'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]
