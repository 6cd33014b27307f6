import { setTimeout as delay } from 'node:timers/promises'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { probeOptions } from '../support/process-figures.ts'
import { type ServedProject, servedProject } from '../support/served-project.ts'

export interface RunServer extends ServedProject {
  live: string
  /** Resolves with the conversation's uuid when the run is queued. */
  startBackground(path: string): Promise<string>
  closeConnections(): Promise<void>
  untilActive(most: number): Promise<void>
}

export async function runServer(
  prompts: Record<string, string>,
  environment: Record<string, string> = {},
): Promise<RunServer> {
  const served = await servedProject(prompts, { STET_MAX_STREAMS_PER_KEY: '100000', ...environment }, probeOptions)
  setGlobalDispatcher(new Agent())
  const { live } = served.project
  return Object.assign(served, {
    live,
    async startBackground(path: string) {
      const answer = await served.post(`${live}/documents/run`, { path, background: true })
      return answer.headers.get('x-conversation-uuid') ?? ''
    },
    async closeConnections() {
      const used = getGlobalDispatcher()
      setGlobalDispatcher(new Agent())
      await used.destroy()
    },
    async untilActive(most: number) {
      for (;;) {
        const figures = await (await fetch(`${served.server.url}/metrics`)).text()
        if (Number(/^stet_runs_active (\d+)/m.exec(figures)?.[1]) <= most) return
        await delay(50)
      }
    },
  })
}
