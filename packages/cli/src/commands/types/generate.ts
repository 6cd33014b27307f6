import { defineCommand } from '../../command.ts'
import { exitCodes } from '../../exit-code.ts'
import { writeFileAtomically, writeNamedFile } from '../../settings/write-file.ts'
import { countOf, shownFile } from '../../terminal/output.ts'
import { generateTypes } from './generated-types.ts'

export const command = defineCommand({
  summary:
    'Writes TypeScript types of the prompts (parameters, outputs and tools), so that the compiler checks every call.',
  examples: [
    'stet types generate',
    'stet types generate --local --out src/prompts.gen.d.ts',
    'stet types generate --check',
  ],
  flags: {
    '--out <file>': 'file to write (default: types.out of the configuration, or prompts.gen.d.ts)',
    '--local': 'use the files instead of the server',
    '--loose': 'allow paths that the project does not have (types.strictPaths: false)',
    '--check': 'write nothing; exit with 3 if the file is out of date',
  },
  parse: (raw) => ({
    out: raw.flags.out,
    isLocal: raw.flags.local,
    isLoose: raw.flags.loose,
    isCheck: raw.flags.check,
  }),
  async run(input, ctx) {
    const { file, text, isCurrent, paths } = await generateTypes(input, ctx)
    const write = input.out === undefined ? writeFileAtomically : writeNamedFile
    if (!isCurrent && !input.isCheck) await write(file, text)
    return { file: shownFile(file, ctx.io.cwd), isCurrent, prompts: paths.length }
  },
  print({ file, isCurrent, prompts }, { say, style }, { isCheck }) {
    const count = countOf(prompts, 'prompt')
    if (isCurrent) say(`${style.ok} ${file} is up to date · ${count}`)
    else if (isCheck) say(`${style.fail} ${file} is out of date\n  hint: run stet types generate`)
    else say(`${style.ok} Wrote ${file} · ${count}`)
  },
  exitCode: ({ isCurrent }, { isCheck }) => (isCheck && !isCurrent ? exitCodes.differences : exitCodes.success),
})
