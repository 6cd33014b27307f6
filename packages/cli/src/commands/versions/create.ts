import { defineCommand } from '../../command.ts'
import { shortUuid } from '../../terminal/output.ts'
import { useVersion } from './use.ts'

export const command = defineCommand({
  summary: 'Opens a draft on top of the live version.',
  examples: ['stet versions create "tone pass"', 'stet versions create "tone pass" --use'],
  args: { '<name>': 'name of the draft' },
  flags: { '--use': 'make this folder follow the draft' },
  parse: (raw) => ({ name: raw.args[0] ?? '', isUsed: raw.flags.use }),
  async run({ name, isUsed }, ctx) {
    await ctx.projectId()
    const version = await (await ctx.client()).versions.create(name)
    // Switches even if changes were not pushed, because the switch itself changes no files.
    if (isUsed) await useVersion(ctx, version.uuid, true)
    return { version, isUsed }
  },
  print({ version, isUsed }, { io, style, say }) {
    io.out(`${version.uuid}\n`)
    say(`${style.ok} Created draft "${version.title}" (${shortUuid(version.uuid)})${isUsed ? ', in use here' : ''}`)
  },
})
