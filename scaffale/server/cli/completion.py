"""Completion for shells: a script for each, made from what the commands say of themselves. No TAB starts this program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.server.cli.described import Described, all_commands

if TYPE_CHECKING:
    from collections.abc import Callable


def script(shell: str) -> str:
    """The script of that shell."""
    return SHELLS[shell](list(all_commands()))


def _groups(known: list[Described]) -> dict[str, list[Described]]:
    """First words, each with its command, or with those of its group."""
    found: dict[str, list[Described]] = {}
    for each in known:
        found.setdefault(each.name.split()[0], []).append(each)
    return found


def _flags(command: Described) -> str:
    return (
        " ".join(flag for argument in command.arguments for flag in argument.flags if flag.startswith("--")) + " --help"
    )


def _is_group(those: list[Described]) -> bool:
    return " " in those[0].name


def _about(first: str, those: list[Described]) -> str:
    """What is said of a first word."""
    return f"{', '.join(each.name.split()[1] for each in those)}" if _is_group(those) else those[0].help


# --- bash ------------------------------------------------------------------------------------------------------------


def _bash(known: list[Described]) -> str:
    groups = _groups(known)
    lines = [
        "# Completion of scaffale for bash:  source <(scaffale completion bash)",
        "_scaffale() {",
        '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" name="${COMP_WORDS[1]}" words=""',
        f'  if (( COMP_CWORD == 1 )); then words="{" ".join(groups)} help"',
        "  else",
        '    case "$name" in',
    ]
    for first, those in groups.items():
        if _is_group(those):
            lines += [
                f"      {first})",
                f'        if (( COMP_CWORD == 2 )); then words="{" ".join(_second(those))}"',
                "        else",
            ]
            lines += ['          case "${COMP_WORDS[2]}" in']
            lines += [f'            {each.name.split()[1]}) words="{_flags(each)}";;' for each in those]
            lines += ["          esac", "        fi;;"]
        else:
            lines.append(f'      {first}) words="{_flags(those[0])}";;')
    lines += ["    esac", '    case "$name ${COMP_WORDS[2]} $prev" in']
    for each in known:
        for argument in each.arguments:
            if argument.flags and argument.choices:
                pattern = (
                    f'"{each.name} {argument.flags[-1]}"'
                    if " " in each.name
                    else f'"{each.name} "*" {argument.flags[-1]}"'
                )
                lines.append(
                    f'      {pattern}) COMPREPLY=($(compgen -W "{" ".join(argument.choices)}" -- "$cur")); return;;'
                )
    lines += [
        "    esac",
        "    # What is no option is a file, or something that only the person knows.",
        '    [[ $cur != -* && ! ( $COMP_CWORD == 2 && "$words" != -* ) ]] && return',
        "  fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o default -F _scaffale scaffale",
    ]
    return "\n".join(lines) + "\n"


def _second(those: list[Described]) -> list[str]:
    return [each.name.split()[1] for each in those]


# --- zsh -------------------------------------------------------------------------------------------------------------


def _zsh(known: list[Described]) -> str:
    lines = [
        "#compdef scaffale",
        "# Completion of scaffale for zsh:  source <(scaffale completion zsh)   (after compinit)",
        "_scaffale() {",
        "  local -a found",
        "  if (( CURRENT == 2 )); then",
        f"    found=({' '.join(_zsh_word(first, _about(first, those)) for first, those in _groups(known).items())})",
        "    _describe command found; return",
        "  fi",
        '  case "$words[2]" in',
    ]
    for first, those in _groups(known).items():
        lines.append(f"    {first})")
        if _is_group(those):
            second = " ".join(_zsh_word(each.name.split()[1], each.help) for each in those)
            lines += [
                "      if (( CURRENT == 3 )); then",
                f"        found=({second})",
                "        _describe command found; return",
                "      fi",
            ]
            lines.append('      case "$words[3]" in')
            lines += [f"        {each.name.split()[1]}) found=({_zsh_options(each)});;" for each in those]
            lines += ["      esac;;"]
        else:
            lines.append(f"      found=({_zsh_options(those[0])});;")
    lines += [
        "  esac",
        '  [[ "$words[CURRENT]" == -* ]] && _describe option found || _files',
        "}",
        "compdef _scaffale scaffale",
    ]
    return "\n".join(lines) + "\n"


def _zsh_options(command: Described) -> str:
    words = [(argument.flags[-1], argument.help) for argument in command.arguments if argument.flags]
    return " ".join(_zsh_word(*each) for each in (*words, ("--help", "explain the command")))


def _zsh_word(word: str, about: str) -> str:
    return _single(f"{word}:{' '.join(about.split())}")


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --- fish ------------------------------------------------------------------------------------------------------------


def _fish(known: list[Described]) -> str:
    lines = ["# Completion of scaffale for fish:  scaffale completion fish | source"]
    for first, those in _groups(known).items():
        lines.append(
            f"complete -c scaffale -n __fish_use_subcommand -f -a {first} -d {_fish_text(_about(first, those))}"
        )
        for each in those:
            seen = f"__fish_seen_subcommand_from {first}"
            if _is_group(those):
                second = each.name.split()[1]
                among = " ".join(_second(those))
                not_yet = _fish_text(f"{seen}; and not __fish_seen_subcommand_from {among}")
                lines.append(f"complete -c scaffale -n {not_yet} -f -a {second} -d {_fish_text(each.help)}")
                seen += f"; and __fish_seen_subcommand_from {second}"
            for argument in each.arguments:
                if argument.flags:
                    value = (
                        f" -x -a {_fish_text(' '.join(argument.choices))}"
                        if argument.choices
                        else " -r"
                        if argument.takes_value
                        else ""
                    )
                    long = argument.flags[-1].removeprefix("--")
                    lines.append(
                        f"complete -c scaffale -n {_fish_text(seen)} -l {long}{value} -d {_fish_text(argument.help)}"
                    )
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    return "'" + " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'") + "'"


# --- PowerShell --------------------------------------------------------------------------------------------------------


def _powershell(known: list[Described]) -> str:
    lines = [
        "# Completion of scaffale for PowerShell:  scaffale completion powershell | Out-String | Invoke-Expression",
        "Register-ArgumentCompleter -Native -CommandName scaffale -ScriptBlock {",
        "  param($wordToComplete, $commandAst, $cursorPosition)",
        "  $given = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })",
        "  if ($wordToComplete) { $given = @($given | Select-Object -SkipLast 1) }",
        "  $known = @{",
        f"    '' = '{' '.join(_groups(known))}'",
    ]
    for first, those in _groups(known).items():
        if _is_group(those):
            lines.append(f"    '{first}' = '{' '.join(_second(those))}'")
        lines += [f"    '{each.name}' = '{_flags(each)}'" for each in those]
    lines += [
        "  }",
        "  $place = if ($given.Count -eq 0) { '' }",
        '    elseif ($given.Count -ge 2 -and $known.ContainsKey("$($given[0]) $($given[1])")) { "$($given[0]) $($given[1])" }',
        "    else { $given[0] }",
        "  if (-not $known.ContainsKey($place)) { return }",
        "  $known[$place].Split(' ') | Where-Object { $_ -like \"$wordToComplete*\" } |",
        "    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }",
        "}",
    ]
    return "\n".join(lines) + "\n"


SHELLS: dict[str, Callable[[list[Described]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
    "powershell": _powershell,
}
