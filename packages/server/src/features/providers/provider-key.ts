/** A stored provider key. `sealedToken` is the encrypted token. Responses show only `maskedToken`. */
export interface ProviderKey {
  id: number
  workspaceId: number
  name: string
  provider: string
  sealedToken: string
  maskedToken: string
  url: string | null
  defaultModel: string | null
  configuration: Record<string, unknown>
  createdAt: Date
  updatedAt: Date
  lastUsedAt: Date | null
}

/** A provider key or an environment provider in a response. Environment providers have id 0. */
export type ListedProviderKey = Omit<ProviderKey, 'workspaceId' | 'sealedToken'>

/** Returns the form of a name that must be unique. Names are unique regardless of case. */
export function providerNameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Short tokens are fully masked, because 7 visible characters would reveal too much. */
export function maskToken(token: string): string {
  return token.length < 16 ? '*'.repeat(token.length) : `${token.slice(0, 3)}********${token.slice(-4)}`
}

/** Returns the context that binds a sealed token to its row. With the context of another row, `open` fails. */
export function tokenContext(workspaceId: number, id: number): string {
  return `workspace:${workspaceId}/provider-key:${id}`
}
