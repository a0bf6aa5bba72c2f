// The scripts that make shells complete `jobmirror`. They ask the hidden command `complete` for candidates, so they stay
// right when commands change. Our own, because @bomb.sh/tab evaluates the typed words and never completes file names.

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The hidden command. It takes the words after `jobmirror`, up to the cursor; the last one is being completed. */
export const COMPLETION_COMMAND = 'complete';
/** What it prints instead of candidates if the name of a file is expected. */
export const FILES = ':files';

/** Without `compopt` (bash 3.2), file names are completed also where nothing is known. */
const BASH = `# Completion of jobmirror for bash.
_jobmirror() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == '${FILES}' ]]; then return; fi
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(jobmirror ${COMPLETION_COMMAND} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  compopt +o default 2>/dev/null
}
complete -o default -F _jobmirror jobmirror`;

const ZSH = `#compdef jobmirror
# Completion of jobmirror for zsh.
_jobmirror() {
  local -a candidates
  candidates=("\${(@f)$(jobmirror ${COMPLETION_COMMAND} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$candidates[1]" == '${FILES}' ]]; then
    _files
  elif [[ -n "$candidates[1]" ]]; then
    candidates=("\${(@)candidates//:/\\\\:}")
    candidates=("\${(@)candidates/$'\\t'/:}")
    _describe jobmirror candidates
  fi
}
if [[ "$funcstack[1]" == _jobmirror ]]; then _jobmirror "$@"; else compdef _jobmirror jobmirror; fi`;

const FISH = `# Completion of jobmirror for fish.
function __jobmirror_candidates
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --local candidates (jobmirror ${COMPLETION_COMMAND} -- $words[2..] (commandline --cut-at-cursor --current-token) 2>/dev/null)
    if test "$candidates[1]" = '${FILES}'
        __fish_complete_path (commandline --cut-at-cursor --current-token)
    else
        printf '%s\\n' $candidates
    end
end
complete --command jobmirror --no-files --arguments '(__jobmirror_candidates)'`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export const completionScript = (shell: Shell): string => SCRIPTS[shell];
