import { ColumnTypeEnum, type SqlResultSet } from '@prisma/driver-adapter-utils'

/** Parameters in which bytes have a buffer of their own: a clone takes a whole buffer, and small ones of Node share one. */
export function withOwnBytes(params: readonly unknown[]): unknown[] {
  return params.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value))
}

/** The buffers of bytes that the adapter has made for these rows: they are handed over, not copied. */
export function bytesOf({ columnTypes, rows }: SqlResultSet): ArrayBuffer[] {
  const places = [...columnTypes.keys()].filter((place) => columnTypes[place] === ColumnTypeEnum.Bytes)
  return rows.flatMap((row) =>
    places.flatMap((place) => {
      const value = row[place]
      return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : []
    }),
  )
}
