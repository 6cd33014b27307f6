import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { countOf } from '../../terminal/output.ts'
import { readProjectId } from '../projects/project-id.ts'

export const command = defineCommand({
  summary: 'Permanently deletes every ended conversation with a custom identifier, in all projects or in one.',
  examples: [
    'stet conversations erase --custom-identifier customer-7',
    'stet conversations erase --custom-identifier customer-7 --only-project 7 --yes',
  ],
  flags: {
    '--custom-identifier <identifier>': 'the custom identifier of the runs',
    '--only-project <id>': 'only in this project',
  },
  parse(raw) {
    const identifier = raw.flags.customIdentifier
    if (!identifier)
      throw new CliError('usage', 'Missing input: the custom identifier', {
        hint: 'pass --custom-identifier <identifier>',
      })
    const only = raw.flags.onlyProject
    return { identifier, scope: only === undefined ? {} : { projectId: readProjectId(only, '--only-project') } }
  },
  async run({ identifier, scope }, ctx) {
    const client = await ctx.client()
    const place = scope.projectId === undefined ? 'every project' : `project ${scope.projectId}`
    if (!(await ctx.confirm(`Permanently delete all conversations of "${identifier}" in ${place}?`, '--yes'))) {
      throw new CliError('usage', 'Nothing was changed')
    }
    return client.conversations.erase(identifier, scope)
  },
  print({ deleted, active }, { style, say, warn }) {
    say(`${style.ok} Deleted ${countOf(deleted, 'conversation')}`)
    if (active > 0)
      warn(`${countOf(active, 'conversation')} with an active run not deleted: stop the runs, then erase again`)
  },
})
