import { connect } from 'node:net'

export function sendRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  options: { end?: boolean } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      answer += text
    })
    socket.on('error', (error: NodeJS.ErrnoException) => (answer === '' ? reject(error) : resolve(answer)))
    socket.on('close', () => resolve(answer))
    for (const piece of pieces) socket.write(piece)
    if (options.end) socket.end()
  })
}

export interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
}

export function parseRaw(answer: string): RawAnswer {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(statusLine.split(' ')[1]), headers: new Map(headers), body: rest.join('\r\n\r\n') }
}
