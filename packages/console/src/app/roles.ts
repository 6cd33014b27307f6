import type { KeyScope } from '@stet/sdk'

/** Names for sets of scopes. Each role can do what the one before it can. */
export const roles: readonly { name: string; scopes: readonly KeyScope[]; text: string }[] = [
  { name: 'Viewer', scopes: ['read'], text: 'reads prompts and conversations' },
  { name: 'Tester', scopes: ['read', 'run'], text: 'also runs prompts' },
  { name: 'Editor', scopes: ['read', 'run', 'write'], text: 'also changes drafts' },
  { name: 'Publisher', scopes: ['read', 'run', 'write', 'publish'], text: 'also makes drafts live' },
  {
    name: 'Admin',
    scopes: ['read', 'run', 'write', 'publish', 'admin'],
    text: 'also manages keys, people and providers',
  },
]

/** The role with these scopes, or the scopes themselves: "read, publish". */
export function roleOf(scopes: readonly KeyScope[]): string {
  if (scopes.includes('admin')) return 'Admin'
  const role = roles.find(
    (role) => role.scopes.length === scopes.length && role.scopes.every((s) => scopes.includes(s)),
  )
  return role?.name ?? scopes.join(', ')
}

export function scopesOf(name: string): KeyScope[] {
  return [...(roles.find((role) => role.name === name)?.scopes ?? ['read'])]
}
