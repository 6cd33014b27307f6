import { defined } from '@stet/template/defined'
import { defineCommand, textFlag } from '../../command.ts'
import { readRetentionDays } from './project-id.ts'

export const command = defineCommand({
  summary: 'Creates a project with its first draft, and prints its id.',
  examples: ['stet projects create "Support bot"', 'stet projects create "Support bot" --default-model gpt-6-luna'],
  args: [{ name: 'name', summary: 'name of the project', isRequired: true }],
  flags: [
    { long: '--default-provider', value: '<name>', summary: 'default provider of prompts' },
    { long: '--default-model', value: '<model>', summary: 'default model of prompts' },
    { long: '--retention-days', value: '<days>', summary: 'days to keep ended conversations' },
  ],
  parse(raw) {
    const defaultProvider = textFlag(raw, 'defaultProvider')
    const defaultModel = textFlag(raw, 'defaultModel')
    const days = textFlag(raw, 'retentionDays')
    const defaults = {
      ...defined({ defaultProvider, defaultModel }),
      ...(days !== undefined && { retentionDays: readRetentionDays(days) }),
    }
    return { name: raw.args[0] ?? '', defaults }
  },
  run: async ({ name, defaults }, ctx) => (await ctx.client()).projects.create(name, defaults),
  print({ project }, { io, style, say, program }) {
    io.out(`${project.id}\n`)
    say(`${style.ok} Created project ${project.id} "${project.name}"`)
    say(`  Next: ${program} init --project ${project.id}`)
  },
})
