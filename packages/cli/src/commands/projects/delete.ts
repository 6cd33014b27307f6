import { defineCommand } from '../../command.ts'
import { findProject, readProjectId } from './project-id.ts'

export const command = defineCommand({
  summary:
    'Permanently deletes a project: its prompts, versions, conversations and evaluations, and the API keys restricted to it.',
  examples: ['stet projects delete 7', 'stet projects delete 7 --confirm-name "Support bot"'],
  args: { '<project>': 'its id' },
  flags: { '--confirm-name <name>': 'the project name, to skip the question' },
  parse: (raw) => ({ id: readProjectId(raw.args[0] ?? '', 'project'), name: raw.flags.confirmName }),
  async run({ id, name: given }, ctx) {
    const client = await ctx.client()
    const message = async () => `Type "${(await findProject(client, id)).name}" to delete project ${id} permanently`
    const name = given ?? (await ctx.ask({ message: await message(), flag: '--confirm-name' }))
    return client.projects.delete(id, { name })
  },
  print({ id }, { style, say }) {
    say(`${style.ok} Deleted project ${id}`)
  },
})
