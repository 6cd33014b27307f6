/** A stored provider key. Its token is sealed, and masked in every response. */
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

/** A provider key in a response. Those of the environment and `demo` have id 0. */
export type ListedProviderKey = Omit<ProviderKey, 'workspaceId' | 'sealedToken'>

/** Names are unique regardless of case. */
export function providerNameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** First 3 characters, stars, last 4. Short tokens are all stars, because 7 characters would reveal too much. */
export function maskToken(token: string): string {
  return token.length < 16 ? '*'.repeat(token.length) : `${token.slice(0, 3)}********${token.slice(-4)}`
}

/** The context of a sealed token, so that a ciphertext moved to another row does not open. */
export function tokenContext(workspaceId: number, id: number): string {
  return `workspace:${workspaceId}/provider-key:${id}`
}
