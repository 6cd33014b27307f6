import { Agent, request } from 'node:http'

interface Attack {
  url: string
  headers: Record<string, string>
  body: string
  connections: number
}

process.once('message', ({ url, headers, body, connections }: Attack) => {
  const bytes = Buffer.from(body)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const options = {
    ...{ method: 'POST', agent },
    headers: { ...headers, 'content-type': 'application/json', 'content-length': bytes.length },
  }
  const send = () => {
    let isOver = false
    const next = () => {
      if (!isOver) setImmediate(send)
      isOver = true
    }
    const sent = request(url, options, (response) => {
      process.send?.(response.statusCode)
      response.resume().once('close', next)
    })
    // After refusing a body, the server closes the connection, which may cause an error here.
    sent.once('error', next).end(bytes)
  }
  for (let connection = 0; connection < connections; connection += 1) send()
})
