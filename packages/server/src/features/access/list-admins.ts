import type { Author } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'

/** Lists the people who can manage the workspace, by name. Leaves out programs, whose e-mail addresses are not real. */
export async function listAdmins({ stores, clock }: Needs<'stores' | 'clock'>, workspaceId: number): Promise<Author[]> {
  const admins = await stores.apiKeys.listAdmins(workspaceId, clock.now())
  return admins
    .filter(({ email }) => !email.endsWith('@localhost'))
    .sort((left, right) => (left.name < right.name || (left.name === right.name && left.id < right.id) ? -1 : 1))
}
