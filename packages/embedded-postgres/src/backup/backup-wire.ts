/**
 * The protocol on the lock's socket. The command sends one line, `BackupRequest`. The server answers with lines,
 * `BackupFrame`; a line with `bytes` is followed by that many bytes of the archive. The command closes the connection
 * when it is done with its work.
 */
import type { Readable } from 'node:stream'

export interface BackupRequest {
  backup: 1
  /** Names of the command's temporary entries. The server deletes them if the command is killed. */
  work: string[]
}

export type BackupFrame =
  /** The first frame. An earlier backup may still be in progress. */
  { accepted: true } | { bytes: number; read: number; total: number } | { end: true } | { error: string }

export function frameLine(frame: BackupFrame): Buffer {
  return Buffer.from(`${JSON.stringify(frame)}\n`)
}

/** Ends with the connection. The last frame may be missing. */
export async function* readFrames(connection: Readable): AsyncGenerator<{ frame: BackupFrame; bytes: Buffer }> {
  let chunks: Buffer[] = []
  let length = 0
  let frame: BackupFrame | undefined
  for await (const chunk of connection.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    if (frame && length < sizeOf(frame)) continue
    let rest: Buffer = Buffer.concat(chunks)
    for (;;) {
      const lineEnd = frame ? -1 : rest.indexOf(10)
      if (!frame && lineEnd < 0) break
      frame ??= JSON.parse(rest.toString('utf8', 0, lineEnd)) as BackupFrame
      rest = rest.subarray(lineEnd + 1)
      if (rest.length < sizeOf(frame)) break
      yield { frame, bytes: rest.subarray(0, sizeOf(frame)) }
      rest = rest.subarray(sizeOf(frame))
      frame = undefined
    }
    chunks = [rest]
    length = rest.length
  }
}

function sizeOf(frame: BackupFrame): number {
  return 'bytes' in frame ? frame.bytes : 0
}
