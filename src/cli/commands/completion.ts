// `jobmirror completion`: prints the script that makes a shell complete the command line.
import { Argument, Command } from 'commander';
import { printData } from '../../telemetry/print.ts';
import { completionScript, SHELLS, type Shell } from '../completion-scripts.ts';

export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .action((shell: Shell) => printData(completionScript(shell)))
    .addHelpText(
      'after',
      `
Load it whenever the shell starts:
  bash  echo 'source <(jobmirror completion bash)' >> ~/.bashrc
  zsh   echo 'source <(jobmirror completion zsh)' >> ~/.zshrc     after the line with compinit
  fish  jobmirror completion fish > ~/.config/fish/completions/jobmirror.fish`,
    );
}
