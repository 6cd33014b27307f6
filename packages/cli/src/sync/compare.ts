/** The hashes of one prompt on the three sides; undefined where it does not exist. */
export interface Sides {
  /** As of the last pull or push. */
  base: string | undefined
  /** Every hash that the local file may have. */
  local: ReadonlySet<string> | undefined
  remote: string | undefined
}

/** How the sides of one prompt relate: the rows of the three-way table. */
export type State =
  | 'same'
  | 'local-edit'
  | 'remote-edit'
  | 'same-edit'
  | 'conflict'
  | 'local-new'
  | 'remote-new'
  | 'same-new'
  | 'both-new'
  | 'local-delete'
  | 'remote-delete'
  | 'edit-against-delete'
  | 'delete-against-edit'
  | 'both-deleted'

/** States that only a human can resolve. */
export const conflictStates: ReadonlySet<State> = new Set<State>([
  'conflict',
  'both-new',
  'edit-against-delete',
  'delete-against-edit',
])

/** States in which both sides are equal. */
export const inStep: ReadonlySet<State> = new Set<State>(['same', 'same-edit', 'same-new', 'both-deleted'])

/** The one decision that status, pull, push and publish share. Undefined: the prompt exists nowhere. */
export function compare({ base, local, remote }: Sides): State | undefined {
  if (base === undefined) return compareNew(local, remote)
  if (local === undefined) {
    if (remote === undefined) return 'both-deleted'
    return remote === base ? 'local-delete' : 'delete-against-edit'
  }
  const isEdited = !local.has(base)
  if (remote === undefined) return isEdited ? 'edit-against-delete' : 'remote-delete'
  if (remote === base) return isEdited ? 'local-edit' : 'same'
  if (!isEdited) return 'remote-edit'
  return local.has(remote) ? 'same-edit' : 'conflict'
}

function compareNew(local: ReadonlySet<string> | undefined, remote: string | undefined): State | undefined {
  if (local === undefined) return remote === undefined ? undefined : 'remote-new'
  if (remote === undefined) return 'local-new'
  return local.has(remote) ? 'same-new' : 'both-new'
}
