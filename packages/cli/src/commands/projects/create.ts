import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { readRetentionDays } from './project-id.ts'

export const command = defineCommand({
  summary: 'Creates a project with its first draft, and prints its id.',
  examples: ['stet projects create "Support bot"', 'stet projects create "Support bot" --default-model gpt-6-luna'],
  args: { '<name>': 'name of the project' },
  flags: {
    '--default-provider <name>': 'default provider of prompts',
    '--default-model <model>': 'default model of prompts',
    '--retention-days <days>': 'days to keep ended conversations',
  },
  parse(raw) {
    const defaultProvider = raw.flags.defaultProvider
    const defaultModel = raw.flags.defaultModel
    const days = raw.flags.retentionDays
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
