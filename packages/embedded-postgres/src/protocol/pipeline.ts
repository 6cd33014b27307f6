import { type PGlite, protocol } from '@electric-sql/pglite'
import type { SqlStatement } from '../sql-session.ts'

const { serialize } = protocol

/** Maximum number of prepared query plans. Each batch size is a separate statement. */
const MAX_PREPARED = 32
/** The number of uses before a query plan is renewed. A plan made for an empty table scans the whole table. */
const MAX_USES = 100

export interface Pipeline {
  /** Runs the statements in one transaction, which ends at the sync message. All values in rows are text or null. */
  run(statements: readonly SqlStatement[]): Promise<Record<string, unknown>[][]>
}

/** Sends statements in one message with named query plans, three times faster than `query` for a small insert. */
export function createPipeline(pglite: PGlite): Pipeline {
  const names = new Map<string, { name: string; uses: number }>()
  let stale: string[] = []
  let made = 0

  const nameOf = (sql: string): { name: string; isNew: boolean } => {
    const known = names.get(sql)
    names.delete(sql)
    if (known && known.uses < MAX_USES) {
      known.uses += 1
      names.set(sql, known)
      return { name: known.name, isNew: false }
    }
    if (known) stale.push(known.name)
    made += 1
    const name = `batch_${made}`
    names.set(sql, { name, uses: 1 })
    const [oldest] = names
    if (names.size > MAX_PREPARED && oldest) {
      names.delete(oldest[0])
      stale.push(oldest[1].name)
    }
    return { name, isNew: true }
  }

  const messageFor = ({ sql, params }: SqlStatement): MessagePart[] => {
    const { name, isNew } = nameOf(sql)
    const bind = bindMessage(name, params.map(wireValue))
    const parse = isNew ? [serialize.parse({ name, text: sql })] : []
    return [...parse, ...bind, serialize.describe({ type: 'P' }), serialize.execute({})]
  }

  return {
    async run(statements) {
      // Closes replaced plans in the next call, because the batch that replaces a plan may also bind it.
      const closing = stale.map((name) => serialize.close({ type: 'S', name }))
      stale = []
      const parts = statements.flatMap(messageFor)
      try {
        // `transaction` would also send BEGIN and COMMIT. This lock only keeps the statements out of other
        // transactions.
        const { messages } = await pglite._runExclusiveTransaction(() =>
          pglite.execProtocol(joined([...closing, ...parts, serialize.sync()])),
        )
        return rowsOf(messages)
      } catch (error) {
        // Some of these names may not exist. PostgreSQL accepts closing an unknown name.
        stale.push(...[...names.values()].map(({ name }) => name))
        names.clear()
        throw error
      }
    },
  }
}

type MessagePart = Uint8Array | string

type WireValue = Uint8Array | string | null

function wireValue(value: unknown): WireValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return `{${value.map(arrayElement).join(',')}}`
  return value instanceof Uint8Array ? value : String(value)
}

function arrayElement(value: unknown): string {
  return value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`
}

type BackendMessages = Awaited<ReturnType<PGlite['execProtocol']>>['messages']

/** Each statement's response has one row description or no-data message, before any rows. */
function rowsOf(messages: BackendMessages): Record<string, unknown>[][] {
  const results: { columns: string[]; rows: Record<string, unknown>[] }[] = []
  for (const message of messages) {
    if (message instanceof protocol.messages.RowDescriptionMessage) {
      results.push({ columns: message.fields.map(({ name }) => name), rows: [] })
    } else if (message.name === 'noData') {
      results.push({ columns: [], rows: [] })
    } else if (message instanceof protocol.messages.DataRowMessage) {
      const last = results.at(-1)
      last?.rows.push(Object.fromEntries(last.columns.map((column, place) => [column, message.fields[place]])))
    }
  }
  return results.map(({ rows }) => rows)
}

/** PGlite's serializer copies every value four times. These parts copy large text once, directly into the message. */
function bindMessage(statement: string, values: readonly WireValue[]): MessagePart[] {
  const name = Buffer.from(`\0${statement}\0`)
  const formats = values.flatMap((value) => [0, value instanceof Uint8Array ? 1 : 0])
  const sizes = values.map((value) => (value === null ? 0 : Buffer.byteLength(value)))
  const size = 4 + name.length + 2 + formats.length + 2 + 4 * values.length + sizes.reduce((a, b) => a + b, 0) + 2
  const parts: MessagePart[] = [
    'B',
    int32(size),
    name,
    int16(values.length),
    Uint8Array.from(formats),
    int16(values.length),
  ]
  for (const [place, value] of values.entries()) {
    if (value === null) parts.push(int32(-1))
    else parts.push(int32(sizes[place] ?? 0), value)
  }
  return [...parts, int16(0)]
}

function joined(parts: readonly MessagePart[]): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((size, part) => size + Buffer.byteLength(part), 0))
  let place = 0
  for (const part of parts) {
    if (typeof part === 'string') place += whole.write(part, place)
    else {
      whole.set(part, place)
      place += part.length
    }
  }
  return whole
}

function int16(value: number): Uint8Array {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
