"""What goalmem costs, measured: each module measures and returns frozen values; `goalmem bench` prints them."""
