/** A stored provider key. The stored token is sealed; responses show it masked. */
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

/** A provider key in a response. Keys that are not stored have id 0. */
export type ListedProviderKey = Omit<ProviderKey, 'workspaceId' | 'sealedToken'>

/** Names are unique regardless of case. */
export function providerNameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Short tokens are fully masked, because 7 visible characters would reveal too much. */
export function maskToken(token: string): string {
  return token.length < 16 ? '*'.repeat(token.length) : `${token.slice(0, 3)}********${token.slice(-4)}`
}

/** Binds a sealed token to its row: a ciphertext moved to another row does not open. */
export function tokenContext(workspaceId: number, id: number): string {
  return `workspace:${workspaceId}/provider-key:${id}`
}
