/** Files inside of texts, and the sizes of texts and files. Pure. */
import { countText } from './time.tsx'

export function isDataUrl(text: string): boolean {
  return /^data:[\w.+-]+\/[\w.+-]+[;,]/.test(text)
}

export function mediaTypeOf(dataUrl: string): string {
  return /^data:([\w.+-]+\/[\w.+-]+)/.exec(dataUrl)?.[1] ?? 'file'
}

/** The size of the file that a data URL holds. */
export function bytesOf(dataUrl: string): number {
  const start = dataUrl.indexOf(',') + 1
  const isBase64 = dataUrl.slice(0, start).endsWith(';base64,')
  return isBase64 ? Math.floor(((dataUrl.length - start) * 3) / 4) : dataUrl.length - start
}

/** "214 bytes", "34 KB", "2.1 MB". */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${countText(bytes)} bytes`
  if (bytes < 1024 * 1024) return `${countText(Math.round(bytes / 1024))} KB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
