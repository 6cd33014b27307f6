/** `pnpm bench:stream`: paced streams (10 ms a chunk) and bursts; CPU per chunk, chunks per second, time to the first text. */
import { runRequest, startControl, startStet, startUpstream } from './candidates.ts'
import { streamLoad } from './load.ts'
import { compare } from './rounds.ts'

const chunks = Number(process.env['CHUNKS'] ?? 300)

await bench('paced', 150, { CHUNKS: String(chunks), GAP_MS: '10' })
for (const streams of [1, 64])
  await bench(`burst, ${streams} at once`, streams, { CHUNKS: String(chunks), GAP_MS: '0' })

async function bench(name: string, streams: number, pace: Record<string, string>): Promise<void> {
  const upstream = await startUpstream(pace)
  const stet = await startStet(upstream.url)
  const environment = { UPSTREAM: upstream.url }
  const raw = await startControl('raw-proxy', environment)
  const shipped = await startControl('express-openai', environment)
  const options = { streams, chunks }
  await compare(
    `stream, ${name}`,
    {
      name: 'raw node:http',
      round: () => streamLoad(raw, runRequest(true), { ...options, firstText: 'word ' }),
    },
    [
      {
        name: 'express + client as shipped',
        round: () => streamLoad(shipped, runRequest(true), { ...options, firstText: 'word ' }),
      },
      {
        name: 'stet',
        round: () => streamLoad(stet, runRequest(true, stet.headers), { ...options, firstText: '"textDelta":"word' }),
      },
    ],
  )
  await Promise.all([stet, raw, shipped, upstream].map((subject) => subject.close()))
}
