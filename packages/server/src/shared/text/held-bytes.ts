/**
 * Roughly the memory that plain data fills: two bytes for each character, and what the engine spends on every value.
 * It is an upper estimate for texts, and costs far less than their JSON would.
 */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') return bytesPerString + 2 * value.length
  if (value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null) return bytesPerValue
  let bytes = bytesPerObject
  if (Array.isArray(value)) for (const item of value) bytes += bytesPerValue + heldBytes(item)
  else for (const [key, item] of Object.entries(value)) bytes += bytesPerValue + key.length + heldBytes(item)
  return bytes
}

const bytesPerValue = 8
const bytesPerString = 16
const bytesPerObject = 32
