/** The lines of a JSON value that is shown as a tree. Pure. */

export interface JsonRow {
  /** As JavaScript writes it: `order.items[0]`. Empty for the whole value. */
  path: string
  /** The key or the index. Null for the whole value. */
  name: string | null
  depth: number
  value: unknown
  kind: 'object' | 'array' | 'leaf'
  /** How many entries an object or a list has. */
  size: number
  isOpen: boolean
}

/** A tree has at most this many lines. */
export const mostRows = 10_000
/** Deeper or longer entries are closed at first. */
const openDepth = 3
const openSize = 50

/** @param toggled the paths that the user has opened or closed */
export function jsonRows(value: unknown, toggled: ReadonlySet<string>): { rows: JsonRow[]; isCut: boolean } {
  const root = rowOf(value, null, '', 0, toggled)
  const rows = [root]
  // A stack instead of recursion: a value may be nested deeper than the call stack.
  const open = root.isOpen ? [entriesOf(root)] : []
  for (;;) {
    const holder = open.at(-1)
    if (!holder) return { rows, isCut: false }
    if (holder.at >= holder.row.size) {
      open.pop()
      continue
    }
    if (rows.length >= mostRows) return { rows, isCut: true }
    const row = childOf(holder.row, holder.keys?.[holder.at] ?? holder.at, toggled)
    holder.at += 1
    rows.push(row)
    if (row.isOpen) open.push(entriesOf(row))
  }
}

function entriesOf(row: JsonRow): { row: JsonRow; keys: string[] | null; at: number } {
  return { row, keys: row.kind === 'object' ? Object.keys(Object(row.value)) : null, at: 0 }
}

function childOf({ value, path, depth }: JsonRow, key: string | number, toggled: ReadonlySet<string>): JsonRow {
  const child: unknown = Object(value)[key]
  return rowOf(child, String(key), path + stepOf(key, path), depth + 1, toggled)
}

function stepOf(key: string | number, path: string): string {
  if (typeof key === 'number') return `[${key}]`
  if (/^[A-Za-z_$][\w$]*$/.test(key)) return path ? `.${key}` : key
  return `[${JSON.stringify(key)}]`
}

function rowOf(
  value: unknown,
  name: string | null,
  path: string,
  depth: number,
  toggled: ReadonlySet<string>,
): JsonRow {
  const isHolder = typeof value === 'object' && value !== null
  const kind = !isHolder ? 'leaf' : Array.isArray(value) ? 'array' : 'object'
  const size = !isHolder ? 0 : Array.isArray(value) ? value.length : Object.keys(value).length
  const opensItself = depth === 0 || (depth < openDepth && size <= openSize)
  return { path, name, depth, value, kind, size, isOpen: size > 0 && opensItself !== toggled.has(path) }
}
