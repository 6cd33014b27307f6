/** The three-way table: the text on each side ('' for none), the state, and the actions of push and pull. */
export const threeWayRows = [
  // base, local, remote, state, push, pull
  ['x', 'x', 'x', 'same', '-', 'none'],
  ['x', 'y', 'x', 'local-edit', 'send', 'keep'],
  ['x', 'x', 'y', 'remote-edit', '-', 'write'],
  ['x', 'y', 'y', 'same-edit', '-', 'lock-only'],
  ['x', 'y', 'z', 'conflict', 'stop', 'write-beside'],
  ['', 'y', '', 'local-new', 'send', 'keep'],
  ['', '', 'y', 'remote-new', '-', 'write'],
  ['', 'y', 'y', 'same-new', '-', 'lock-only'],
  ['', 'y', 'z', 'both-new', 'stop', 'write-beside'],
  ['x', '', 'x', 'local-delete', 'delete', 'keep-deleted'],
  ['x', 'x', '', 'remote-delete', '-', 'delete'],
  ['x', 'y', '', 'edit-against-delete', 'stop', 'keep'],
  ['x', '', 'y', 'delete-against-edit', 'stop', 'write'],
  ['x', '', '', 'both-deleted', '-', 'lock-only'],
] as const
