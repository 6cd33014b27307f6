import type { GoTo } from '../text/line-ends.ts'
import css from './editor.module.css'
import { type FoundIssues, isError } from './use-issues.ts'

interface IssueListProps {
  issues: FoundIssues['issues']
  /** The path of the open prompt. An issue of another one cannot be selected here. */
  path: string
  onSelect: GoTo
}

/** The problems of the prompt, with their positions. */
export function IssueList({ issues, path, onSelect }: IssueListProps) {
  if (issues.length === 0) return null
  return (
    <section
      className={css['issues']}
      data-tone={issues.some(isError) ? 'red' : 'amber'}
      aria-label={issues.some(isError) ? 'Errors' : 'Warnings'}
    >
      <ul>
        {issues.map((issue) => {
          const { path: of = path, line, column, message, severity } = issue
          return (
            <li key={`${of} ${line} ${column} ${message}`}>
              <button
                type="button"
                className={css['issue']}
                data-tone={severity === 'error' ? 'red' : 'amber'}
                aria-disabled={of !== path || undefined}
                onClick={() => of === path && onSelect(issue)}
              >
                <span className={css['issuePlace']}>
                  {of !== path && `${of}:`}
                  {line}:{column}
                </span>
                <span>
                  {severity === 'warning' && 'Warning: '}
                  {message}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
