import { Stet } from '@stet/sdk'
import type { RunningServer } from './server.ts'

export async function publishFirst(server: RunningServer, prompts: Record<string, string>): Promise<Stet> {
  const client = new Stet({ apiKey: server.adminKey, baseUrl: server.address, projectId: 1 })
  const [draft] = await client.versions.list()
  const changes = Object.entries(prompts).map(([path, content]) => ({ path, content, status: 'added' as const }))
  await client.versions.push(draft?.uuid ?? '', changes)
  await client.versions.publish(draft?.uuid ?? '')
  return client
}
