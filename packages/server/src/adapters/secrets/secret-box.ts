/** Uses AES-256-GCM with a key ring. The newest key encrypts. The key named in the sealed text decrypts. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { SecretBox } from '../../features/providers/ports.ts'

const format = 'v1'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** @param keys 32 bytes each in base64, newest first. @throws Error for a key of another length, or without keys. */
export function secretBox(keys: readonly string[]): SecretBox {
  const ring = keys.map(toRingKey)
  const [newest] = ring
  if (!newest) throw new Error('An encryption key is needed')
  return {
    seal: (clear, context) => seal(newest, clear, context),
    open: (sealed, context) => open(ring, sealed, context),
  }
}

type RingKey = ReturnType<typeof toRingKey>

function toRingKey(key: string) {
  const secret = Buffer.from(key, 'base64')
  if (secret.length !== keyBytes) throw new Error(`An encryption key has ${secret.length} bytes instead of ${keyBytes}`)
  return { id: createHash('sha256').update(secret).digest('hex').slice(0, 8), secret }
}

function seal(key: RingKey, clear: string, context: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(context))
  const text = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final()])
  return [format, key.id, Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')].join('.')
}

function open(ring: readonly RingKey[], sealed: string, context: string): string {
  const [version, keyId, body, ...more] = sealed.split('.')
  if (version !== format || body === undefined || more.length > 0) throw new Error('Not a sealed secret')
  const key = ring.find(({ id }) => id === keyId)
  if (!key) throw new Error('Sealed with a key that is not in the ring')
  const bytes = Buffer.from(body, 'base64url')
  // Different base64 texts can decode to the same bytes. Only the canonical text is accepted.
  if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== body)
    throw new Error('Not a sealed secret')
  const nonce = bytes.subarray(0, nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}
