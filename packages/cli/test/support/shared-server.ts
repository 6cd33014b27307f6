import { type Change, Stet } from '@stet/sdk'
import { inject } from 'vitest'
import { Person } from './stet.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The server of all files. Its provider `openai` sends one word and never ends; the model `refused` returns 401. */
export const server = inject('server')

export const account = new Stet({ apiKey: server.adminKey, baseUrl: server.address })

let count = 0

/** Creates a project, and publishes its first prompts. */
export async function projectWith(prompts: Record<string, string>): Promise<{ client: Stet; id: number }> {
  count += 1
  const { project } = await account.projects.create(`project ${process.pid}-${count}`)
  const client = account.project(project.id)
  const [draft] = await client.versions.list()
  const changes = Object.entries(prompts).map(([path, content]): Change => ({ path, content, status: 'added' }))
  if (changes.length > 0) {
    await client.versions.push(draft?.uuid ?? '', changes)
    await client.versions.publish(draft?.uuid ?? '')
  }
  return { client, id: project.id }
}

/** Has no files: the environment names the server, the key and the project. */
export async function personIn(id: number, way: { address: string } = server): Promise<Person> {
  return new Person(await temporaryFolder(), way, { STET_API_KEY: server.adminKey, STET_PROJECT_ID: String(id) })
}

/** Has a home, a checkout and a login. */
export const loggedIn = async (): Promise<Person> => Person.create(await temporaryFolder(), server)
