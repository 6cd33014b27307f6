import { stet } from '../../app/session.ts'

/** The prompt of a new installation. It names no provider, so the one that is configured answers it. */
export const firstPrompt = {
  path: 'hello',
  text: `---
parameters:
  name: { type: text, required: true }
---
Answer in two short sentences.
<user>
Say hello to {{ name }}, who runs a prompt with stet for the first time.
</user>
`,
  example: { name: 'Ada', parameters: { name: 'Ada' } },
}

export interface FirstPrompt {
  projectId: number
  versionUuid: string
  documentUuid: string
  exampleUuid: string
}

/**
 * Writes the first prompt and its example into a draft. Calling it again changes nothing.
 *
 * @param projectId the project without prompts; null creates the project `default`
 */
export async function writeFirstPrompt(projectId: number | null): Promise<FirstPrompt> {
  const place = projectId === null ? await createProject() : await findDraft(projectId)
  const { path, text, example } = firstPrompt
  const { documentUuid } = await stet.prompts.getOrCreate(path, { ...place, prompt: text })
  const examples = await stet.examples.list(documentUuid, { projectId: place.projectId })
  const found = examples.find(({ name }) => name === example.name)
  const { uuid } = found ?? (await stet.examples.create({ documentUuid, ...example }, { projectId: place.projectId }))
  return { ...place, documentUuid, exampleUuid: uuid }
}

async function createProject(): Promise<{ projectId: number; versionUuid: string }> {
  const { project, version } = await stet.projects.create('default')
  return { projectId: project.id, versionUuid: version.uuid }
}

async function findDraft(projectId: number): Promise<{ projectId: number; versionUuid: string }> {
  const [draft] = await stet.versions.list({ projectId, status: 'draft' })
  const { uuid } = draft ?? (await stet.versions.create('First draft', { projectId }))
  return { projectId, versionUuid: uuid }
}
