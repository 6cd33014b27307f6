/**
 * The engine recognizes file values by `__promptlType`. The engine's format repeats the MIME type and the size under
 * several names.
 */
export interface FileValue {
  __promptlType: 'file'
  name: string
  url: string
  isImage: boolean
  type: string
  mime: string
  mimeType: string
  size: number
  bytes: number
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?,/

const typesByExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
}

/**
 * Returns undefined unless the value is a URL, a data URL or base64, or an object with such a `url`. An image parameter
 * is always an image. A file parameter is an image if its MIME type begins with `image/`.
 */
export function fileValue(value: unknown, declared: 'image' | 'file'): FileValue | undefined {
  if (typeof value === 'string') {
    return isSource(value)
      ? made(declared, value, { name: nameOf(value), mimeType: typeOf(value), size: 0 })
      : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { url, name, mimeType, size } = value as Record<string, unknown>
  if (typeof url !== 'string' || !isSource(url)) return undefined
  return made(declared, url, {
    name: typeof name === 'string' ? name : nameOf(url),
    mimeType: typeof mimeType === 'string' && mimeType !== '' ? mimeType : typeOf(url),
    size: typeof size === 'number' ? size : 0,
  })
}

function made(
  declared: 'image' | 'file',
  url: string,
  { name, mimeType, size }: { name: string; mimeType: string | undefined; size: number },
): FileValue {
  const type = mimeType ?? (declared === 'image' ? 'image/png' : 'application/octet-stream')
  return {
    __promptlType: 'file',
    name,
    url,
    isImage: declared === 'image' || type.startsWith('image/'),
    type,
    mime: type,
    mimeType: type,
    size,
    bytes: size,
  }
}

function isSource(text: string): boolean {
  return isHttpUrl(text) || DATA_URL.test(text) || BASE64.test(text)
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

function nameOf(source: string): string {
  return isHttpUrl(source) ? (new URL(source).pathname.split('/').at(-1) ?? '') : ''
}

function typeOf(source: string): string | undefined {
  const inDataUrl = DATA_URL.exec(source)?.[1]
  if (inDataUrl) return inDataUrl
  const extension = nameOf(source).split('.').at(-1)?.toLowerCase() ?? ''
  return Object.hasOwn(typesByExtension, extension) ? typesByExtension[extension] : undefined
}
