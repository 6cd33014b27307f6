/** Columns: base text, local text, remote text ('' for none), state, push action, pull action. */
export const threeWayRows = [
  ['x', 'x', 'x', 'same', '-', 'none'],
  ['x', 'y', 'x', 'local-edit', 'send', 'keep'],
  ['x', 'x', 'y', 'remote-edit', '-', 'write'],
  ['x', 'y', 'y', 'same-edit', '-', 'lock-only'],
  ['x', 'y', 'z', 'conflict', 'stop', 'merge'],
  ['', 'y', '', 'local-new', 'send', 'keep'],
  ['', '', 'y', 'remote-new', '-', 'write'],
  ['', 'y', 'y', 'same-new', '-', 'lock-only'],
  ['', 'y', 'z', 'both-new', 'stop', 'merge'],
  ['x', '', 'x', 'local-delete', 'delete', 'keep-deleted'],
  ['x', 'x', '', 'remote-delete', '-', 'delete'],
  ['x', 'y', '', 'edit-against-delete', 'stop', 'unresolved'],
  ['x', '', 'y', 'delete-against-edit', 'stop', 'write'],
  ['x', '', '', 'both-deleted', '-', 'lock-only'],
] as const
