//! The highlighting rules of each language: just enough to tell words, strings and comments apart.

/// A language, or several with the same rules.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "these are independent traits of a language, not modes")]
pub(super) struct Language {
    /// Its names in code blocks, its file extensions, and names of files without an extension.
    pub(super) names: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    /// Whether comments nest.
    pub(super) nests: bool,
    /// The longest delimiter first.
    pub(super) quotes: &'static [Quote],
    pub(super) keywords: &'static str,
    pub(super) types: &'static str,
    /// Constants such as `true`, highlighted like numbers.
    pub(super) constants: &'static str,
    /// Prefix letters of strings.
    pub(super) prefixes: &'static str,
    /// Further characters that are part of words.
    pub(super) in_words: &'static str,
    /// The start of an attribute, annotation, decorator or directive.
    pub(super) attributes: &'static [&'static str],
    /// Whether a capitalised word is a type.
    pub(super) capitals: bool,
    /// Whether a word before a bracket is a call.
    pub(super) calls: bool,
    pub(super) any_case: bool,
    /// Whether a word before a colon or equals sign is a key.
    pub(super) keys: bool,
    pub(super) lifetimes: bool,
    /// Whether words count only inside tags.
    pub(super) markup: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) escapes: bool,
    /// Whether it may span several lines.
    pub(super) lines: bool,
}

const fn quote(open: &'static str, close: &'static str, escapes: bool, lines: bool) -> Quote {
    Quote { open, close, escapes, lines }
}

const DOUBLE: Quote = quote("\"", "\"", true, false);
const SINGLE: Quote = quote("'", "'", true, false);
const DOUBLE_LINES: Quote = quote("\"", "\"", true, true);
const SINGLE_LINES: Quote = quote("'", "'", true, true);
const BACKTICK: Quote = quote("`", "`", true, true);
const TRIPLE: Quote = quote("\"\"\"", "\"\"\"", true, true);
const TRIPLE_SINGLE: Quote = quote("'''", "'''", true, true);
const VERBATIM: Quote = quote("'", "'", false, true);

/// The C family with braces, `//` and `/* */`. Most other languages are defined as differences from it.
const BRACES: Language = Language {
    names: "",
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    nests: false,
    quotes: &[DOUBLE, SINGLE],
    keywords: "",
    types: "",
    constants: "true false null",
    prefixes: "",
    in_words: "",
    attributes: &["@"],
    capitals: true,
    calls: true,
    any_case: false,
    keys: false,
    lifetimes: false,
    markup: false,
};

/// Languages with `#` comments.
const HASHES: Language = Language { line_comments: &["#"], block_comments: &[], attributes: &[], ..BRACES };

/// Formats of keys and values.
const SETTINGS: Language =
    Language { keys: true, capitals: false, calls: false, keywords: "", in_words: "-.", ..HASHES };

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: "rust rs",
        nests: true,
        quotes: &[
            quote("r##\"", "\"##", false, true),
            quote("r#\"", "\"#", false, true),
            quote("br#\"", "\"#", false, true),
            DOUBLE_LINES,
            SINGLE,
        ],
        keywords: "as async await break const continue crate dyn else enum extern fn for gen if impl in let \
                   loop match mod move mut pub ref return self Self static struct super trait type union \
                   unsafe use where while yield",
        types: "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
        constants: "true false None",
        prefixes: "b r br c cr",
        attributes: &["#[", "#!["],
        lifetimes: true,
        ..BRACES
    },
    Language {
        names: "python py pyi python3 pyw",
        quotes: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "and as assert async await break case class continue def del elif else except finally for \
                   from global if import in is lambda match nonlocal not or pass raise return self try \
                   while with yield",
        types: "bool bytes dict float frozenset int list object set str tuple type",
        constants: "True False None NotImplemented Ellipsis",
        prefixes: "f r b u rb br fr rf",
        attributes: &["@"],
        ..HASHES
    },
    Language {
        names: "typescript ts tsx mts cts javascript js jsx mjs cjs vue svelte astro",
        quotes: &[BACKTICK, DOUBLE, SINGLE],
        keywords: "abstract as async await break case catch class const continue debugger declare default \
                   delete do else enum export extends finally for from function get if implements import in \
                   infer instanceof interface is keyof let namespace new of override private protected \
                   public readonly return satisfies set static super switch this throw try type typeof var \
                   void while with yield",
        types: "any bigint boolean never number object string symbol unknown",
        constants: "true false null undefined NaN Infinity",
        in_words: "$",
        ..BRACES
    },
    Language {
        names: "go golang",
        quotes: &[quote("`", "`", false, true), DOUBLE, SINGLE],
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import \
                   interface map package range return select struct switch type var",
        types: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 \
                int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
        constants: "true false nil iota",
        attributes: &[],
        ..BRACES
    },
    Language {
        names: "c h cpp c++ cc cxx hpp hh hxx ino cuda cu objc objective-c m mm glsl hlsl",
        keywords: "alignas alignof asm auto break case catch class co_await co_return co_yield concept \
                   const consteval constexpr continue decltype default delete do else enum explicit export \
                   extern final for friend goto if inline mutable namespace new noexcept operator override \
                   private protected public register requires restrict return sizeof static static_assert \
                   static_cast struct switch template this throw try typedef typename union using virtual \
                   volatile while",
        types: "bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long \
                ptrdiff_t short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t unsigned void \
                wchar_t",
        constants: "true false NULL nullptr nil YES NO",
        prefixes: "L u U u8 R",
        attributes: &["#"],
        ..BRACES
    },
    Language {
        names: "java kotlin kt kts groovy gradle scala sc",
        quotes: &[TRIPLE, DOUBLE, SINGLE],
        keywords: "abstract actual annotation as assert break by case catch class companion const \
                   constructor continue crossinline data def default do else enum expect extends external \
                   final finally for fun given goto if implements import in infix init inline inner \
                   instanceof interface internal is lateinit lazy match native new object open operator out \
                   override package permits private protected public record reified return sealed static \
                   strictfp super suspend switch synchronized tailrec this throw throws trait transient try \
                   typealias val var vararg volatile when where while with yield",
        types: "boolean byte char double float int long short void",
        ..BRACES
    },
    Language {
        names: "csharp cs c# fsharp fs",
        quotes: &[TRIPLE, quote("@\"", "\"", false, true), DOUBLE, SINGLE],
        keywords: "abstract as async await base break case catch checked class const continue default \
                   delegate do else enum event explicit extern finally fixed for foreach from get goto if \
                   implicit in init interface internal is let lock match module namespace new not null open \
                   operator or out override params partial private protected public readonly record ref \
                   required return sealed select set sizeof stackalloc static struct switch then this throw \
                   try type typeof unchecked unsafe using var virtual volatile when where while with yield",
        types: "bool byte char decimal double dynamic float int long nint object sbyte short string uint \
                ulong ushort void",
        attributes: &["["],
        ..BRACES
    },
    Language {
        names: "swift dart",
        quotes: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "actor as associatedtype async await break case catch class const continue convenience \
                   default defer deinit do dynamic else enum extends extension external factory fallthrough \
                   fileprivate final for func get guard if implements import in indirect init inout \
                   internal is late lazy let library mixin mutating new nonisolated on open operator \
                   override part private protocol public repeat required rethrows return sealed self set \
                   some static struct subscript super switch this throw throws try typealias typedef \
                   unowned var weak where while with yield",
        types: "bool double dynamic int num void",
        constants: "true false nil null",
        ..BRACES
    },
    Language {
        names: "zig",
        block_comments: &[],
        keywords: "align allowzero and anyframe anytype asm async await break callconv catch comptime const \
                   continue defer else enum errdefer error export extern fn for if inline noalias nosuspend \
                   opaque or orelse packed pub resume return struct suspend switch test threadlocal try \
                   union unreachable usingnamespace var volatile while",
        types: "bool f32 f64 i8 i16 i32 i64 i128 isize type u8 u16 u32 u64 u128 usize void",
        constants: "true false null undefined",
        ..BRACES
    },
    Language {
        names: "php",
        line_comments: &["//", "#"],
        quotes: &[DOUBLE_LINES, SINGLE_LINES],
        keywords: "abstract and array as break case catch class clone const continue declare default do \
                   echo else elseif empty endfor endforeach endif endwhile enum extends final finally fn \
                   for foreach function global if implements include instanceof interface isset list match \
                   namespace new or print private protected public readonly require require_once return \
                   static switch throw trait try unset use var while xor yield",
        types: "bool float int iterable mixed never object self string void",
        constants: "true false null TRUE FALSE NULL",
        in_words: "$",
        attributes: &["#["],
        ..BRACES
    },
    Language {
        names: "ruby rb rake gemfile rakefile gemspec crystal cr podfile",
        keywords: "BEGIN END alias and begin break case class def defined do else elsif end ensure extend \
                   for if in include module next not or private protected public raise redo require \
                   require_relative rescue retry return self super then undef unless until when while yield",
        constants: "true false nil",
        in_words: "?!@",
        ..HASHES
    },
    Language {
        names: "elixir ex exs",
        quotes: &[TRIPLE, DOUBLE, SINGLE],
        keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol \
                   defstruct do else end fn for if import in not or quote raise receive require rescue \
                   super throw try unless unquote use when with",
        constants: "true false nil",
        in_words: "?!",
        attributes: &["@"],
        ..HASHES
    },
    Language {
        names: "erlang erl hrl",
        line_comments: &["%"],
        block_comments: &[],
        keywords: "after and andalso begin case catch cond div end fun if let maybe not of or orelse \
                   receive rem try when xor",
        attributes: &["-"],
        ..BRACES
    },
    Language {
        names: "shell sh bash zsh fish ksh console shellsession bats .bashrc .zshrc .profile",
        quotes: &[DOUBLE_LINES, VERBATIM],
        keywords: "break case continue do done elif else esac eval exec exit export fi for function if in \
                   local readonly return select set shift source then time trap unset until while",
        types: "",
        constants: "true false",
        in_words: "-$",
        capitals: false,
        calls: false,
        ..HASHES
    },
    Language {
        names: "powershell ps1 psm1 psd1 pwsh",
        block_comments: &[("<#", "#>")],
        keywords: "begin break catch class continue data do dynamicparam else elseif end exit filter \
                   finally for foreach from function if in param process return switch throw trap try until \
                   using while",
        constants: "$true $false $null",
        in_words: "$-",
        any_case: true,
        ..HASHES
    },
    Language {
        names: "batch bat cmd",
        line_comments: &["REM ", "rem ", "::"],
        quotes: &[DOUBLE],
        keywords: "call cd copy del do echo else endlocal exit for goto if in mkdir not set setlocal shift",
        any_case: true,
        ..HASHES
    },
    Language {
        names: "lua",
        line_comments: &["--"],
        block_comments: &[("--[[", "]]")],
        quotes: &[quote("[[", "]]", false, true), DOUBLE, SINGLE],
        keywords: "and break do else elseif end for function goto if in local not or repeat return then \
                   until while",
        constants: "true false nil",
        ..HASHES
    },
    Language {
        names: "haskell hs elm purescript purs",
        line_comments: &["--"],
        block_comments: &[("{-", "-}")],
        nests: true,
        quotes: &[DOUBLE],
        keywords: "alias as case class data default deriving do else exposing family forall foreign hiding \
                   if import in infix infixl infixr instance let module newtype of port qualified then type \
                   where",
        constants: "",
        in_words: "'",
        ..HASHES
    },
    Language {
        names: "ocaml ml mli reason re",
        line_comments: &[],
        block_comments: &[("(*", "*)")],
        nests: true,
        quotes: &[DOUBLE_LINES],
        keywords: "and as assert begin class constraint do done downto else end exception external for fun \
                   function functor if in include inherit initializer lazy let match method module mutable \
                   new nonrec object of open or private rec sig struct then to try type val virtual when \
                   while with",
        in_words: "'",
        ..HASHES
    },
    Language {
        names: "clojure clj cljs cljc edn lisp el scm scheme racket rkt emacs-lisp commonlisp",
        line_comments: &[";"],
        quotes: &[DOUBLE_LINES],
        keywords: "and case cond def define defmacro defmethod defn defn- defprotocol defrecord defun \
                   defvar do fn for if if-let in-ns lambda let let* loop ns or quote recur require setq \
                   throw try unless when when-let while",
        constants: "true false nil t",
        in_words: "-*?!+<>=",
        calls: false,
        ..HASHES
    },
    Language {
        names: "r rmd",
        keywords: "break else for function if in library next repeat require return source while",
        constants: "TRUE FALSE NULL NA Inf NaN",
        in_words: ".",
        capitals: false,
        ..HASHES
    },
    Language {
        names: "julia jl nim nims",
        block_comments: &[("#=", "=#"), ("#[", "]#")],
        quotes: &[TRIPLE, DOUBLE],
        keywords: "abstract addr and as baremodule begin block break case cast catch const continue \
                   converter defer discard do elif else elseif end enum except export finally for from func \
                   function global if import in include iterator let local macro method module mutable nil \
                   not object of or out proc quote raise ref return static struct template try tuple type \
                   using var when where while yield",
        constants: "true false nothing missing nil",
        in_words: "!",
        ..HASHES
    },
    Language {
        names: "perl pl pm raku",
        quotes: &[DOUBLE_LINES, SINGLE_LINES],
        keywords: "and cmp die do else elsif eq for foreach ge given gt if last le local lt my ne next no \
                   or our package print redo require return state sub unless until use when while xor",
        in_words: "$@",
        capitals: false,
        ..HASHES
    },
    Language {
        names: "sql psql postgresql mysql sqlite plsql tsql ddl",
        line_comments: &["--"],
        quotes: &[quote("'", "'", false, true), DOUBLE, BACKTICK],
        keywords: "add all alter and as asc between begin by cascade case check column commit constraint \
                   create cross database default delete desc distinct drop else end exists explain foreign \
                   from full function grant group having if in index inner insert into is join key language \
                   left like limit not offset on or order outer over partition primary procedure references \
                   replace returning returns revoke right rollback select set table then to transaction \
                   trigger truncate union unique update using values view when where window with",
        types: "bigint blob boolean bytea char date decimal float int integer json jsonb numeric real \
                serial smallint text time timestamp timestamptz uuid varchar",
        attributes: &[],
        capitals: false,
        any_case: true,
        ..BRACES
    },
    Language {
        names: "graphql gql",
        quotes: &[TRIPLE, DOUBLE],
        keywords: "directive enum extend fragment implements input interface mutation on query repeatable \
                   scalar schema subscription type union",
        attributes: &["@"],
        in_words: "$",
        calls: false,
        ..HASHES
    },
    Language {
        names: "proto protobuf thrift",
        keywords: "enum extend extensions group import map message oneof option optional package public \
                   repeated required reserved returns rpc service stream syntax to",
        types: "bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string \
                uint32 uint64",
        ..BRACES
    },
    Language {
        names: "solidity sol move",
        keywords: "abstract address anonymous as assembly break calldata constant constructor continue \
                   contract do else emit enum error event external fallback for function if immutable \
                   import indexed interface internal is library mapping memory modifier module new override \
                   payable pragma private public pure receive return returns revert storage struct try \
                   unchecked using view virtual while",
        types: "bool bytes bytes32 int int256 string uint uint8 uint256",
        ..BRACES
    },
    Language {
        names: "css scss sass less postcss",
        keywords: "important from to and not only",
        types: "",
        constants: "auto inherit initial none unset",
        in_words: "-$",
        attributes: &["@"],
        capitals: false,
        keys: true,
        ..BRACES
    },
    Language {
        names: "html htm xml xhtml svg xsl xsd plist rss atom jsp erb handlebars hbs jinja njk",
        line_comments: &[],
        block_comments: &[("<!--", "-->")],
        quotes: &[DOUBLE_LINES, VERBATIM],
        in_words: "-:.@",
        attributes: &[],
        markup: true,
        ..BRACES
    },
    Language {
        names: "json jsonc json5 jsonl geojson webmanifest",
        line_comments: &["//"],
        in_words: "",
        quotes: &[DOUBLE],
        ..SETTINGS
    },
    Language {
        names: "yaml yml",
        quotes: &[DOUBLE_LINES, quote("'", "'", false, true)],
        constants: "true false null yes no on off ~",
        in_words: "-./$",
        ..SETTINGS
    },
    Language {
        names: "toml lock pipfile",
        quotes: &[TRIPLE, quote("'''", "'''", false, true), DOUBLE, quote("'", "'", false, false)],
        attributes: &["["],
        ..SETTINGS
    },
    Language {
        names: "ini cfg conf properties env dotenv editorconfig .editorconfig .env .gitconfig desktop \
                service",
        line_comments: &["#", ";"],
        quotes: &[DOUBLE],
        attributes: &["["],
        ..SETTINGS
    },
    Language {
        names: "terraform tf hcl tfvars nix",
        line_comments: &["#", "//"],
        block_comments: &[("/*", "*/")],
        quotes: &[quote("''", "''", false, true), DOUBLE_LINES],
        keywords: "assert data else for if in inherit import let locals module output provider rec resource \
                   terraform then variable with",
        ..SETTINGS
    },
    Language {
        names: "dockerfile containerfile docker",
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell \
                   stopsignal user volume workdir",
        in_words: "-$",
        capitals: false,
        calls: false,
        any_case: true,
        ..HASHES
    },
    Language {
        names: "makefile make mk gnumakefile justfile just cmake cmakelists.txt",
        keywords: "add_executable add_library define else elseif endef endfunction endif endforeach export \
                   find_package foreach function if ifdef ifeq ifndef ifneq import include project set \
                   target_link_libraries unexport vpath",
        in_words: "-$",
        capitals: false,
        keys: true,
        ..HASHES
    },
    Language {
        names: "vim viml vimscript",
        line_comments: &[],
        block_comments: &[],
        quotes: &[quote("'", "'", false, false)],
        keywords: "augroup autocmd call command echo else elseif endfor endfunction endif endwhile execute \
                   for function if let map nnoremap noremap return set setlocal syntax vnoremap while",
        in_words: ":#",
        capitals: false,
        ..HASHES
    },
];
