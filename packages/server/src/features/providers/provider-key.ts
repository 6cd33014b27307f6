/** A stored provider entry; its token is sealed and appears masked everywhere outside a driver call. */
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

/** An entry as callers see it; those of the environment and `demo` have id 0. */
export type ListedProviderKey = Omit<ProviderKey, 'workspaceId' | 'sealedToken'>

/** Names are unique without regard to case. */
export function providerNameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** First 3 characters, stars, last 4; short tokens are all stars, since 7 characters would tell too much of them. */
export function maskToken(token: string): string {
  return token.length < 16 ? '*'.repeat(token.length) : `${token.slice(0, 3)}********${token.slice(-4)}`
}

/** What a sealed token is bound to: a ciphertext moved to another row does not open. */
export function tokenContext(workspaceId: number, id: number): string {
  return `workspace:${workspaceId}/provider-key:${id}`
}
