"""What tests leave alone here: programs that build the site need packages of the site."""

collect_ignore = ["machinery"]
